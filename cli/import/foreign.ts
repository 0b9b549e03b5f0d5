import { join } from 'node:path';
import type { Agent } from '../agents/agent.ts';
import { EXIT, Failure } from '../failure.ts';
import { findTranscripts, type Place, type Trouble } from '../read/discover.ts';
import { isOf } from './recognize.ts';

/**
 * Leaves the files of other agents out of the named places. A file belongs to another agent if none of its first records is a
 * record of the place's agent and at least one is a record of the other. Calls `onFile` for each such file. Throws a
 * `Failure` if no file contains a record of the place's agent.
 */
export function leaveOutForeign(
  path: string,
  named: readonly Place[],
  agents: readonly Agent[],
  onFile: (sentence: string) => void,
): Place[] {
  const troubles: Trouble[] = [];
  let files = 0;
  let own = 0;
  const places = named.map((place): Place => {
    const except: string[] = [];
    for (const { root, path } of findTranscripts([place], (trouble) => troubles.push(trouble))) {
      files++;
      // The name of an export says nothing, so its content must show the agent.
      const isSure = place.isNamed || place.agent.isTranscript(path);
      if (isOf(place.agent, root, path, isSure)) {
        own++;
        continue;
      }
      const others = agents.filter((agent) => agent.id !== place.agent.id && agent.isTranscript(path));
      const other = others.find((agent) => isOf(agent, root, path));
      if (other === undefined && isSure) continue;
      except.push(path);
      const whose = `${place.agent.displayName}${other ? `, but of ${other.displayName}` : ''}`;
      onFile(`${join(root, path)} is left out: it contains no record of ${whose}.`);
    }
    return { ...place, except: [...(place.except ?? []), ...except] };
  });
  if (own > 0) return places;
  for (const trouble of troubles) onFile(`${trouble.path} cannot be read: ${trouble.reason}.`);
  const [first, second] = named;
  const whose = first && !second ? first.agent.displayName : 'any agent';
  if (files > 0) {
    const hint = 'Check the path and --agent. Nothing of it was captured.';
    throw new Failure(EXIT.usage, `${path} contains no record of ${whose}.`, hint);
  }
  const hint = 'To import a file with any name, name the file itself: `capture import --agent ID FILE`.';
  throw new Failure(EXIT.usage, `${path} contains no transcript of ${whose}: no file in it has the name of one.`, hint);
}
