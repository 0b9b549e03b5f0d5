import { showHidden } from './text/controls.ts';

/** A path whose file name stays visible where there is little room. Its parent has the class `path`. */
export function PathName({ path }: { path: string }) {
  const at = path.lastIndexOf('/') + 1;
  return (
    <>
      {at > 0 && (
        <span className="path-folder">
          {/* The folder is cut at its left, and still reads from left to right. */}
          <bdi dir="ltr">{showHidden(path.slice(0, at))}</bdi>
        </span>
      )}
      <span className="path-file">{showHidden(path.slice(at))}</span>
    </>
  );
}
