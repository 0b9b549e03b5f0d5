import type { ComponentProps } from 'react';

type Props = ComponentProps<'section'> & { 'aria-label': string };

/** An area that can be scrolled with the keyboard. It takes the focus, so it needs a name. */
export function Scroll({ children, ...rest }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: keys only scroll an area with the focus
    <section tabIndex={0} {...rest}>
      {children}
    </section>
  );
}
