/**
 * A worker's data plane alone in a process, for measuring and profiling: no supervisor, no channel.
 * Arguments: the port to listen on and the port of the upstream. Ends with SIGTERM.
 */
import { startDataPlane } from '../../test/support/data-plane.ts';

const [port, upstreamPort] = process.argv.slice(2).map(Number);
if (port === undefined || upstreamPort === undefined) {
  throw new Error('cannot start: a port and an upstream port are needed');
}
const running = await startDataPlane({ port, upstreamPorts: [upstreamPort] });
// The statistics of a running worker are taken every few seconds.
const flushing = setInterval(() => running.stats(), 5000);
process.once('SIGTERM', () => {
  clearInterval(flushing);
  void running.close();
});
