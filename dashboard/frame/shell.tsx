import { useSearch } from '@tanstack/react-router';
import { Menu } from 'lucide-react';
import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { Boundary } from '../kit/boundary.tsx';
import { Button } from '../kit/button.tsx';
import { Dialog } from '../kit/dialog.tsx';
import { lazyPart } from '../kit/lazy.tsx';
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
    <div className="frame" data-plane={plane} data-sheet={sheet || undefined}>
      <a href="#page" className="skip-link">
        Skip to the page
      </a>
      <Rail onNavigate={() => setSheet(false)} onPalette={() => setPalette(true)} />
      {sheet && (
        <button
          type="button"
          aria-label="Close the menu"
          className="hidden max-sm:fixed max-sm:inset-0 max-sm:z-19 max-sm:block max-sm:bg-[oklch(15%_0.02_260/40%)]"
          onClick={() => setSheet(false)}
        />
      )}
      <main id="page" tabIndex={-1} className="frame-page" data-scroll-restoration-id="page">
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
