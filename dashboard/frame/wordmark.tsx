/** The product's mark: a strip of events. */
export function Mark() {
  return (
    <svg viewBox="0 0 32 32" width="18" height="18" aria-hidden="true" className="fill-accent">
      <rect x="3" y="12" width="4" height="8" rx="1" />
      <rect x="10" y="6" width="4" height="20" rx="1" />
      <rect x="17" y="10" width="4" height="12" rx="1" />
      <rect x="24" y="14" width="4" height="5" rx="1" />
    </svg>
  );
}

export function Wordmark() {
  return (
    <span className="flex items-center gap-2 font-semibold">
      <Mark />
      Session Capture
    </span>
  );
}
