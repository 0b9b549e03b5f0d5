import { EXTENSIONS } from '../contract/extensions.ts';
import { ROUTES } from '../contract/routes.ts';
import { EXCEPTIONS, exceptionOf, KIND_NAMES, KINDS, statusFor } from '../server/test/authorization.ts';
import { type AnyRouteName, TABLE } from '../server/test/requests.ts';

/** The page with the status that each route answers to each kind of caller. */
export function authorization(): string {
  const reasons = [...new Set(Object.values(EXCEPTIONS).flatMap((exceptions) => exceptions.map(({ why }) => why)))];
  return `# Which caller may call which route

Each row is a route, each column a kind of caller, and each cell the status of the answer. All callers send the same request, about
an object of one organization: its session, its member, its machine. *Elsewhere* means another organization. A success in that
column concerns the caller's own organization, and the answer contains nothing of the other one.

| caller | credential |
| --- | --- |
| malformed or unknown | another scheme than \`Bearer\`, random text, a secret with a typo, half a secret, a secret that nobody issued |
| forged token | a token that somebody else signed, or that has no signature |
| secret of the machine | a secret that a machine got by a confirmed sign-in; *another machine* belongs to the same organization |
| no organization | a signed-in person who belongs to no organization |

\`server/test/callers.slow.test.ts\` sends all of these requests on SQLite and on PostgreSQL. A new route appears in the tests and on this
page as soon as it is in the contract.

## Routes of the interface

${table(Object.keys(ROUTES) as AnyRouteName[], reasons)}

## Extensions

${table(Object.keys(EXTENSIONS) as AnyRouteName[], reasons)}

## Notes

${reasons.map((why, index) => `${index + 1}. ${why}`).join('\n')}

This page is generated from the contract and \`server/test/authorization.ts\` by \`npm run generate\`.
`;
}

function table(routes: readonly AnyRouteName[], reasons: readonly string[]): string {
  const cell = (route: AnyRouteName, caller: (typeof KIND_NAMES)[number]) => {
    const why = exceptionOf(route, caller)?.why;
    return why === undefined ? statusFor(route, caller) : `${statusFor(route, caller)} (${reasons.indexOf(why) + 1})`;
  };
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  return [
    line(['route', ...KIND_NAMES.map((name) => KINDS[name].heading)]),
    line(['route', ...KIND_NAMES].map(() => '---')),
    ...routes.map((route) => {
      const { method, path } = TABLE[route];
      return line([`\`${method} ${path}\``, ...KIND_NAMES.map((caller) => cell(route, caller))]);
    }),
  ].join('\n');
}
