import { useSearch } from '@tanstack/react-router';
import { Menu } from 'lucide-react';
import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { Boundary } from '../kit/boundary.tsx';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { lazyPart } from '../kit/lazy.tsx';
import { SkipLink } from '../kit/skip-link.tsx';
import { Connection } from './connection.tsx';
import { Rail } from './rail.tsx';

const Palette = lazyPart(() => import('./palette.tsx'), 'Palette');

/** The frame: rail on the left, page on the right. The test plane tints it, so that nobody mistakes it for the live plane. */
export function Shell({ children }: { children: ReactNode }) {
  const { plane } = useSearch({ from: '__root__' });
  const [sheet, setSheet] = useState(false);
  const [palette, setPalette] = useState(false);

  useEffect(() => {
    const open = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      setPalette(true);
    };
    window.addEventListener('keydown', open);
    return () => window.removeEventListener('keydown', open);
  }, []);

  return (
    <div
      data-plane={plane}
      className="grid h-full grid-cols-[216px_minmax(0,1fr)] bg-(--frame) [--frame:var(--bg)] max-[1000px]:grid-cols-[52px_minmax(0,1fr)] max-sm:grid-cols-1 test-plane:[--frame:var(--test-wash)] test-plane:shadow-[inset_0_3px_0_var(--test)]"
    >
      <SkipLink to="#page">Skip to the page</SkipLink>
      <Rail isOpen={sheet} onNavigate={() => setSheet(false)} onPalette={() => setPalette(true)} />
      {sheet && (
        <button
          type="button"
          aria-label="Close the menu"
          className="hidden max-sm:fixed max-sm:inset-0 max-sm:z-19 max-sm:block max-sm:bg-[oklch(15%_0.02_260/40%)]"
          onClick={() => setSheet(false)}
        />
      )}
      {/* A stable gutter keeps titles at the same place on long and short pages. */}
      <main
        id="page"
        tabIndex={-1}
        className="relative h-full min-w-0 overflow-y-auto border-line border-l bg-surface outline-none [scrollbar-gutter:stable] max-sm:border-l-0 test-plane:mt-[3px] test-plane:h-[calc(100%-3px)]"
        data-scroll-restoration-id="page"
      >
        <Button
          tone="quiet"
          icon
          aria-label="Open the menu"
          aria-expanded={sheet}
          className="hidden max-sm:absolute max-sm:top-3 max-sm:left-2 max-sm:z-5 max-sm:inline-flex"
          onClick={() => setSheet(true)}
        >
          <Menu size={16} />
        </Button>
        {children}
      </main>
      <Connection />
      {palette && (
        <Boundary of="The palette" fallback={<PaletteMissing onClose={() => setPalette(false)} />}>
          <Suspense>
            <Palette onClose={() => setPalette(false)} />
          </Suspense>
        </Boundary>
      )}
    </div>
  );
}

const PaletteMissing = ({ onClose }: { onClose: () => void }) => (
  <Dialog title="Go to" onClose={onClose}>
    <p className="text-muted">
      The service did not answer, so this dialog could not be loaded. Reload the page to try again.
    </p>
  </Dialog>
);
