import type { ComponentProps } from 'react';

type Props = ComponentProps<'section'> & { 'aria-label': string };

/** An area that scrolls, also by keyboard: it takes the focus, and so has a name. */
export function Scroll({ children, ...rest }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without the focus no key could scroll it
    <section tabIndex={0} {...rest}>
      {children}
    </section>
  );
}
