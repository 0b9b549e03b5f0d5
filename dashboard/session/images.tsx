import { Image } from 'lucide-react';
import { useMemo } from 'react';
import type { PromptEntry } from '../../transcript/entry/entry.ts';
import { plural } from '../kit/format.ts';
import { imagesOf } from './model/images.ts';
import { usePayload } from './use-payload.ts';

/** The pictures of a prompt, loaded when the prompt is visible. */
export function Images({ sessionId, entry }: { sessionId: string; entry: PromptEntry }) {
  const { data } = usePayload(sessionId, entry.sequence, entry.span);
  const images = useMemo(() => imagesOf(data?.payload), [data]);
  return (
    <>
      <Pictures images={images} />
      <p className="mt-1 inline-flex items-center gap-1 text-12 text-muted">
        <Image size={14} aria-hidden /> {plural(entry.images, 'image')}
      </p>
    </>
  );
}

/** Pictures that are in the payload itself. Nothing is loaded from other places. */
export function Pictures({ images }: { images: readonly string[] }) {
  if (images.length === 0) return null;
  return (
    <div className="my-2 flex flex-wrap gap-2">
      {images.map((address, index) => (
        <img
          // biome-ignore lint/suspicious/noArrayIndexKey: the pictures of a payload never move
          key={index}
          src={address}
          alt={`Attachment ${index + 1}`}
          className="max-h-80 max-w-[min(100%,480px)] rounded-md border border-line"
        />
      ))}
    </div>
  );
}
