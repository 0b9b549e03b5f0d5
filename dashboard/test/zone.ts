import { cdp } from 'vitest/browser';
import { createService } from './service.ts';
import { show } from './show.tsx';

const moveTo = (timezoneId: string) =>
  (cdp() as { send: (method: string, given: object) => Promise<unknown> }).send('Emulation.setTimezoneOverride', {
    timezoneId,
  });

/**
 * Moves the browser to a time zone, for a page at an address. The code of the page is loaded before: all tests share it, and its
 * formats of dates keep the zone in which they were made.
 */
export async function loadIn(zone: string, address: string): Promise<void> {
  const { close } = await show(address, createService());
  await close();
  await moveTo(zone);
}

export const moveBack = () => moveTo('');
