import { defineCommand } from '../command.ts';
import { EXIT } from '../failure.ts';
import { describeFinding, withoutHome } from '../inspect/finding.ts';
import { CHECKS, findTroubles } from '../inspect/findings.ts';
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
    ['capture doctor --json', 'for a report of a bug'],
  ],
  async run(context, _values, output) {
    const { platform, home } = context;
    const findings = findTroubles(await inspect(context), context);
    const troubled = new Set(findings.map(({ check }) => check));
    const failed = findings.filter(({ outcome }) => outcome === 'failed').length;
    const summary = { failed, warning: findings.length - failed, ok: Object.keys(CHECKS).length - troubled.size };
    // For programs and for reports of bugs: the home is `~`.
    const checks = findings.map(({ check, outcome, sentence, fix }) => ({
      ...{ check, outcome, sentence: withoutHome(sentence, home), fix: withoutHome(fix, home) },
    }));
    output.answer({ version: VERSION, platform, summary, checks }, [
      ...findings.flatMap((finding) => describeFinding(finding, context)),
      ...(findings.length > 0 ? [''] : []),
      `${failed} failed, ${formatCount(summary.warning, 'warning')}, ${summary.ok} checks found nothing.`,
    ]);
    return failed > 0 ? EXIT.failure : EXIT.ok;
  },
});
