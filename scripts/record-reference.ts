/**
 * Records what Envoy (`envoy` on PATH) answers to the project's own conformance cases, into
 * test/conformance/golden/. Run it when a case is added; the recordings are reviewed and committed.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { factsOf } from '../test/conformance/ask.ts';
import { cases } from '../test/conformance/cases/index.ts';
import { goldenPath } from '../test/conformance/golden.ts';
import { startReference } from './start-reference.ts';

for (const conformanceCase of cases) {
  const facts = await factsOf(conformanceCase, startReference);
  const path = goldenPath(conformanceCase.name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify(facts, null, 1)}\n`);
  console.log(`recorded ${conformanceCase.name}: ${Object.keys(facts).length} questions`);
}
