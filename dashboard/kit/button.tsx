import type { ComponentProps } from 'react';

interface Props extends ComponentProps<'button'> {
  tone?: 'primary' | 'danger' | 'quiet' | undefined;
  size?: 'small';
  /** Square, for a single icon; needs an `aria-label`. */
  icon?: boolean;
}

export function Button({ tone, size, icon, className = '', type = 'button', ...rest }: Props) {
  return (
    <button
      type={type}
      className={`button ${className}`}
      data-tone={tone}
      data-size={size}
      data-icon={icon || undefined}
      title={icon ? rest['aria-label'] : undefined}
      {...rest}
    />
  );
}
