import { wordError } from '../app/api.ts';
import { Button } from '../kit/button.tsx';

interface Props {
  error: unknown;
  onRetry?: () => void;
  isRetrying?: boolean;
}

/** An error, shown in place of the missing result. */
export function ErrorNote({ error, onRetry, isRetrying = false }: Props) {
  const { title, advice, small, isFinal } = wordError(error);
  return (
    <div role="alert" className="flex flex-col items-start gap-2 rounded-md bg-bad-wash px-4 py-3 text-13">
      <p>
        <strong className="font-semibold text-bad">{title}.</strong> {advice}
      </p>
      {small && <p className="font-mono text-12 text-muted">{small}</p>}
      {onRetry && !isFinal && (
        <Button size="small" disabled={isRetrying} onClick={onRetry}>
          {isRetrying ? 'Trying…' : 'Try again'}
        </Button>
      )}
    </div>
  );
}
