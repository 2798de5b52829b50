/**
 * A worker's data plane alone in a process, for measuring and profiling: no supervisor, no channel.
 * Arguments: the port to listen on, the port of the upstream and, if wanted, an access log's path.
 * Ends with SIGTERM.
 */
import type { AccessLogConfig } from '../../shared/resources/access-loggers/access-loggers.ts';
import { startDataPlane } from '../../test/support/parts/data-plane.ts';

const [port, upstreamPort] = process.argv.slice(2, 4).map(Number);
const logPath = process.argv[4];
if (port === undefined || upstreamPort === undefined) {
  throw new Error('cannot start: a port and an upstream port are needed');
}
/** The API's default format. */
const defaultFormat =
  '[%START_TIME%] "%REQUEST_HEADER(:METHOD)% %REQUEST_HEADER(X-ENVOY-ORIGINAL-PATH?:PATH)% ' +
  '%PROTOCOL%" %RESPONSE_CODE% %RESPONSE_FLAGS% %BYTES_RECEIVED% %BYTES_SENT% %DURATION% ' +
  '%RESPONSE_HEADER(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQUEST_HEADER(X-FORWARDED-FOR)%" ' +
  '"%REQUEST_HEADER(USER-AGENT)%" "%REQUEST_HEADER(X-REQUEST-ID)%" ' +
  '"%REQUEST_HEADER(:AUTHORITY)%" "%UPSTREAM_HOST%"\n';
const accessLogs: readonly AccessLogConfig[] =
  logPath === undefined
    ? []
    : [
        {
          kind: 'lines',
          sink: { kind: 'file', path: logPath },
          format: { kind: 'text', format: defaultFormat, omitEmptyValues: false },
        },
      ];
const running = await startDataPlane({
  port,
  upstreamPorts: [upstreamPort],
  manager: { accessLogs },
});
// The statistics of a running worker are taken every few seconds.
const flushing = setInterval(() => running.stats(), 5000);
process.once('SIGTERM', () => {
  clearInterval(flushing);
  void running.close();
});
