import { defineCommand, flag } from '../command.ts';
import { EXIT } from '../failure.ts';
import { describeFinding, type Outcome, withoutHome } from '../inspect/finding.ts';
import { findTroubles } from '../inspect/findings.ts';
import { inspect } from '../inspect/inspect.ts';
import { formatCount } from '../output.ts';
import { VERSION } from '../version.ts';

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'find out why sessions are missing, and how to mend it',
  description:
    'Looks for everything that keeps sessions from arriving, and names the command or edit that mends it. Changes and asks ' +
    'nothing, and works signed out and offline. Ends with 1 where something failed. What --json answers holds no secret, ' +
    'no transcript, and no path but below ~.',
  examples: [
    ['capture doctor', 'what is wrong, and what mends it'],
    ['capture doctor --verbose', 'and what is fine'],
    ['capture doctor --json', 'for a report of a bug'],
  ],
  takes: { verbose: flag('--verbose', 'list what is fine, too') },
  async run(context, { verbose }, output) {
    const { platform, home } = context;
    const findings = findTroubles(await inspect(context), context);
    const count = (outcome: Outcome) => findings.filter((one) => one.outcome === outcome).length;
    const summary = { failed: count('failed'), warning: count('warning'), ok: count('ok'), skipped: count('skipped') };
    const { failed, warning, ok, skipped } = summary;
    // For programs and for reports of bugs: the home is `~`, and what the findings keep private is left out.
    const checks = findings.map(({ check, outcome, sentence, fix }) => ({
      ...{ check, outcome, sentence: withoutHome(sentence, home) },
      ...(fix !== undefined && { fix: withoutHome(fix, home) }),
    }));
    const shown = findings.filter(
      ({ outcome, private: names }) => verbose || outcome === 'failed' || outcome === 'warning' || names !== undefined,
    );
    const tail = `${failed} failed, ${formatCount(warning, 'warning')}, ${ok} fine, ${skipped} skipped`;
    output.answer({ version: VERSION, platform, summary, checks }, [
      ...shown.flatMap((finding) => describeFinding(finding, context)),
      ...(shown.length > 0 ? [''] : []),
      `${tail}${verbose ? '.' : ' (--verbose lists them).'}`,
    ]);
    return failed > 0 ? EXIT.failure : EXIT.ok;
  },
});
