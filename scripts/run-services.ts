/**
 * Runs real services behind the filters that ask them: rate limits, authorisation, traces, tokens.
 * Each says one line with what was seen; what cannot be had here is left out with a word. Loopback
 * only. Not part of `npm test`: npm run test:services
 */
import { runTrials } from './programs/run-trials.ts';
import { authorisationTrials } from './services/authorisation.ts';
import { rateLimitTrials } from './services/rate-limit.ts';
import { telemetryTrials } from './services/telemetry.ts';
import { tokenTrials } from './services/tokens.ts';

const trials = [...rateLimitTrials, ...authorisationTrials, ...telemetryTrials, ...tokenTrials];
process.exitCode = (await runTrials(trials, process.argv[2] ?? '')) > 0 ? 1 : 0;
