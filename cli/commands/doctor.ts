import { defineCommand } from '../command.ts';
import { EXIT } from '../failure.ts';
import { describeFinding, withoutHome } from '../inspect/finding.ts';
import { CHECKS, findTroubles } from '../inspect/findings.ts';
import { inspect } from '../inspect/inspect.ts';
import { formatCount } from '../output.ts';
import { VERSION } from '../version.ts';

export const doctorCommand = defineCommand({
  name: 'doctor',
  summary: 'find out why sessions are missing, and how to fix it',
  description:
    'Checks everything that can keep sessions from arriving, and shows the command or edit that fixes it. Changes nothing, ' +
    'asks nothing, and works signed out and offline. Exits with 1 if something failed. The output of --json holds no ' +
    'secrets, no transcripts, and no paths outside ~.',
  examples: [
    ['capture doctor', 'what is wrong, and how to fix it'],
    ['capture doctor --json', 'for a bug report'],
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
