import { Suspense } from 'react';
import { expect, test } from 'vitest';
import { render } from 'vitest-browser-react';
import { lazyPart } from './lazy.tsx';

const Shown = () => <p>It is here.</p>;

test('a preloaded part is shown at once', async () => {
  const Part = lazyPart(async () => ({ Shown }), 'Shown');
  await Part.preload();
  const { container } = await render(
    <Suspense fallback={<p>Not yet.</p>}>
      <Part />
    </Suspense>,
  );
  expect(container.textContent).toBe('It is here.');
});
