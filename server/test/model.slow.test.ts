import fc from 'fast-check';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { runs, seeded } from '../../contract/test/runs.ts';
import { LOGS } from './engines.ts';
import { allCommands } from './model/commands.ts';
import { closeModel, createModel } from './model/model.ts';

describe.each(LOGS)('any order of requests on %s', (engine) => {
  let real: Awaited<ReturnType<typeof createModel>>;
  beforeAll(async () => {
    real = await createModel(engine);
  });
  afterAll(() => closeModel(real));

  test(`is answered as a model of it says ${seeded}`, async () => {
    const property = fc.asyncProperty(fc.commands(allCommands, { maxCommands: 40, size: '+1' }), (commands) =>
      fc.asyncModelRun(() => ({ model: { sessions: new Map() }, real }), commands),
    );
    await fc.assert(property, runs(6));
  });
});
