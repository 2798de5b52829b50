/** Prints what to open, as soon as the demo answers. */
import { get } from 'node:http';
import { systemClock } from '../../shared/process/clock.ts';

const ADMIN = 'http://127.0.0.1:9901';
const LISTENER = 'http://127.0.0.1:10000';
const RETRY_MS = 50;

/** Asks `/ready` until it answers; the process's end ends the asking. */
export function announceDemo(): void {
  const again = (): void => void systemClock.after(RETRY_MS, announceDemo, { unref: true });
  get(`${ADMIN}/ready`, { agent: false }, (response) => {
    response.resume();
    if (response.statusCode !== 200) return again();
    process.stdout.write(
      `Sluice is live.\n  proxy:  ${LISTENER}/  (also /blue/ and /hello)\n  admin:  ${ADMIN}/\nStop it with Ctrl-C.\n`,
    );
  }).on('error', again);
}
