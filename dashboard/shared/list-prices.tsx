import { formatUtcDay } from '../kit/format.ts';

/** What every cost says about itself. @param pricesOf the day of the last review of the prices; absent until it is known */
export const ListPrices = ({ pricesOf }: { pricesOf: string | undefined }) => (
  <p className="text-muted">
    List prices{pricesOf && ` of ${formatUtcDay(Date.parse(pricesOf), 'year')}`} in US dollars, not your bill.
  </p>
);
