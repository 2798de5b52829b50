/** The parameters of `/drain_listeners` that Envoy does not have; see docs/drain.md. */
import { flag, text, type AdminParam } from './admin-route.ts';

export const OWN_DRAIN_PARAMS: readonly AdminParam[] = [
  text('listener', 'Drain this listener only'),
  flag('wait', 'Answer when the drain is over'),
  text('min', 'Seconds before which the drain is not over'),
  text('max', 'Seconds after which open connections are cut, instead of --drain-time-s'),
  flag('exit', 'End the server when the drain is over'),
  text(
    'close_idle',
    'Close connections that have been idle for this many seconds (1 without a value)',
  ),
];
