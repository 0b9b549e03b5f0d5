import { formatCount } from '../../contract/count.ts';
import type { Envelope } from '../../contract/dsse.ts';
import { openReceipt, Unproven } from './receipt.ts';

/** Limits that apply to every receipt, whoever signs it. */
export const LIMITS = [
  'It proves what the machine sent, but not what the agent did.',
  'It does not prove that nothing was left out or written by hand on the machine before it was sent.',
  'For an event that was masked later, it proves that the event existed, but not its present content.',
  'It does not prove who owns the keys. Compare the key of the service with one that you have from its operator.',
  'The times come from the clocks of the machine and the service.',
];

const STYLE =
  'body{font:16px/1.5 sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}dt{font-weight:bold}dd,pre{overflow-wrap:anywhere;white-space:pre-wrap}';

/**
 * Renders the receipt for people, with the signed statement in it. The same envelope always makes the same page. @throws
 * Unproven
 */
export function renderPage(envelope: Envelope): string {
  const { receipt, countersigned, machineKey, serviceKey } = openReceipt(envelope);
  const { agentId, events, head, masked, maskedLater, madeAt, madeBy } = receipt.predicate;
  const rules = Object.entries(masked).map(([rule, count]) => `${rule}: ${count}`);
  const rows: [string, string][] = [
    ['Session', countersigned.sessionId],
    ['Agent', agentId],
    ['Events', String(events)],
    ['Head of the chain (SHA-256)', head],
    ['Texts masked before sending, by rule', rules.join(', ') || 'none'],
    ['Events masked later', String(maskedLater.length)],
    ['Signed by the machine', `${madeAt}, by ${madeBy}, with the key ${machineKey}`],
    ['Countersigned by the service', `${countersigned.signedAt}, with the key ${serviceKey}`],
  ];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Receipt of ${toHtml(countersigned.sessionId)}</title>
<style>${STYLE}</style>
<h1>Receipt of a session</h1>
<p>${claimOf(maskedLater.length)} Both have signed it.</p>
<dl>
${rows.map(([name, value]) => `<dt>${toHtml(name)}<dd>${toHtml(value)}`).join('\n')}
</dl>
<h2>What it does not prove</h2>
<ul>
${LIMITS.map((limit) => `<li>${toHtml(limit)}`).join('\n')}
</ul>
<h2>How to verify it</h2>
<p>Without a network: <code>capture receipt verify FILE</code>, and with the events: <code>--events EVENTS.jsonl</code>.</p>
<pre id="envelope">${toHtml(JSON.stringify(envelope))}</pre>
</html>
`;
}

/** An event that was masked later is in its place, but nobody can check its content any more. */
const claimOf = (masked: number) =>
  `A machine sent these events, and a service has them, in this order: ${
    masked === 0 ? 'all, unchanged.' : `unchanged except for ${formatCount(masked, 'event')}, masked later.`
  }`;

/** Reads the envelope in a page. @throws Unproven if there is none, or if the page differs from its envelope */
export function readPage(page: string): Envelope {
  const [, text = ''] = /<pre id="envelope">([^<]*)<\/pre>/.exec(page) ?? [];
  const envelope = readEnvelope(text.replace(/&(?:amp|lt|gt|quot);/g, (entity) => ENTITIES[entity] as string));
  if (renderPage(envelope) === page) return envelope;
  const { madeBy } = openReceipt(envelope).receipt.predicate;
  throw new Unproven(
    `The page differs from the page that ${madeBy} writes. It was changed, or this is another version.`,
  );
}

/** @throws Unproven */
export function readEnvelope(text: string): Envelope {
  try {
    const { payloadType, payload, signatures } = JSON.parse(text) as Envelope;
    const given = signatures.map(({ keyid, sig }) => ({ keyid: String(keyid), sig: String(sig) }));
    return { payloadType: String(payloadType), payload: String(payload), signatures: given };
  } catch {
    throw new Unproven('The file does not contain a receipt.');
  }
}

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' };
const NAMES = new Map(Object.entries(ENTITIES).map(([entity, character]) => [character, entity]));

const toHtml = (text: string) => text.replace(/[&<>"]/g, (character) => NAMES.get(character) as string);
