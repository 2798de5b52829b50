/**
 * `npm start`: the demo. Two small upstreams run in this very process, beside the supervisor, so that
 * everything ends together; the rest is `sluice` with the bootstrap of docs/examples/demo.yaml.
 */
import { join } from 'node:path';
import { errorText } from '../../shared/text/error-text.ts';
import { SignalInbox } from '../../shared/process/signals.ts';

const signals = new SignalInbox();
const { startDemoUpstreams } = await import('./demo-upstreams.ts');
const { announceDemo } = await import('./announce-demo.ts');
const { runProgram } = await import('../program.ts');

const bootstrap = join(import.meta.dirname, '..', '..', '..', 'docs', 'examples', 'demo.yaml');
try {
  await startDemoUpstreams();
  announceDemo();
  await runProgram(
    ['-c', bootstrap, '--disable-hot-restart', '--concurrency', '2', '-l', 'error'],
    signals,
  );
} catch (error) {
  process.stderr.write(`${errorText(error)}\n`);
  process.exitCode = 1;
}
