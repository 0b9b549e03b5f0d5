/** A link past parts that repeat on each page. It is visible while it has the focus. */
export const SkipLink = ({ to, children }: { to: string; children: string }) => (
  <a href={to} className="fixed -top-12 left-2 z-30 rounded-md bg-accent px-3 py-2 text-accent-text focus:top-2">
    {children}
  </a>
);
