import { showHidden } from './text/controls.ts';

/** A path. Where there is little room, its beginning is cut, because the name of the file says more. */
export const PathName = ({ path, title = path }: { path: string; title?: string }) => (
  <span className="path" title={showHidden(title)}>
    {/* The place of the cut comes from the direction outside; the path itself reads from left to right. */}
    <bdi dir="ltr">{showHidden(path)}</bdi>
  </span>
);
