/** The command line of `sluice drain`, as the parameters that the server gets. */
import type { ParamsOf } from '../../admin-client/admin-endpoints.ts';
import type { AdminPlace } from '../admin-place.ts';
import { adminPlaceOf, readWords } from '../words.ts';

export interface DrainArguments extends AdminPlace {
  readonly params: ParamsOf<'/drain_listeners'>;
}

export const DRAIN_HELP = `usage: sluice drain [OPTIONS]

Drains the listeners of a running server and ends when no connection is left; prints progress each second.

  --admin ADDRESS            admin interface as host:port or unix socket path (127.0.0.1:9901)
  --admin-address-path FILE  the file that the server's option of that name wrote
  --admin-token-path FILE    the token that the server's option of that name wants
  --listener NAME            this listener alone
  --min SECONDS, --max SECONDS
                             not over before; then cut what is open (the server's --drain-time-s)
  --close-idle SECONDS       close connections that have been idle for so long
  --inbound-only             listeners with traffic_direction INBOUND
  --immediate                close listeners at once instead of at the end
  --exit                     end the server with the drain
  --no-wait                  do not wait for the end of the drain
`;

const FLAGS = new Map(
  Object.entries({
    '--inbound-only': 'inboundonly',
    '--immediate': 'immediate',
    '--exit': 'exit',
    '--no-wait': 'no_wait',
  }),
);
const VALUES = new Map(
  Object.entries({
    '--listener': 'listener',
    '--min': 'min',
    '--max': 'max',
    '--close-idle': 'close_idle',
    '--admin': 'admin',
    '--admin-address-path': 'address_path',
    '--admin-token-path': 'token_path',
  }),
);

/** A text says what is wrong. */
export function parseDrainArguments(argv: readonly string[]): DrainArguments | string {
  const given = readWords(argv, { flags: FLAGS, values: VALUES });
  if (typeof given === 'string') return given;
  return { ...adminPlaceOf(given), params: paramsOf(given) };
}

function paramsOf(given: ReadonlyMap<string, string>): ParamsOf<'/drain_listeners'> {
  return {
    graceful: !given.has('immediate'),
    listener: given.get('listener'),
    min: given.get('min'),
    max: given.get('max'),
    close_idle: given.get('close_idle'),
    inboundonly: given.has('inboundonly'),
    exit: given.has('exit'),
    wait: !given.has('no_wait'),
  };
}
