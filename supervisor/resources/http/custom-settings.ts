/**
 * Refuses `custom_settings_parameters` of HTTP/2 that say what a field of its own says, that
 * contradict each other, or that switch on what is not there, in Envoy's words.
 */
import type { Http2ProtocolOptions } from '../../../shared/api/generated/envoy/config/core/v3/protocol.ts';
import type { Scope } from '../scope.ts';

const ENABLE_PUSH = 2;
const ENABLE_CONNECT = 8;
/** Settings that have a field, which may not be set beside them. */
const NAMED = new Map<number, keyof Http2ProtocolOptions>([
  [1, 'hpack_table_size'],
  [3, 'max_concurrent_streams'],
  [4, 'initial_stream_window_size'],
]);

export function checkCustomSettings(message: Http2ProtocolOptions, scope: Scope): void {
  const { custom_settings_parameters: settings } = message;
  if (settings === undefined || settings.length === 0) return;
  const place = scope.at('custom_settings_parameters');
  checkValues(settings, place);
  const twice = settings
    .map(({ identifier = 0 }) => NAMED.get(identifier))
    .filter((field) => field !== undefined && message[field] !== undefined);
  if (twice.length === 0) return;
  const what = `the {${[...new Set(twice)].join(',')}} HTTP/2 SETTINGS parameter(s)`;
  place.error('conflict', `${what} can not be configured through both named and custom parameters`);
}

type Settings = NonNullable<Http2ProtocolOptions['custom_settings_parameters']>;

function checkValues(settings: Settings, place: Scope): void {
  const values = new Map<number, number>();
  const inconsistent = new Set<number>();
  for (const { identifier = 0, value = 0 } of settings) {
    if ((values.get(identifier) ?? value) !== value) inconsistent.add(identifier);
    values.set(identifier, value);
  }
  if (values.get(ENABLE_PUSH) === 1) {
    const what = 'server push is not supported by Envoy and can not be enabled';
    place.error('conflict', `${what} via a SETTINGS parameter.`);
  }
  if (values.has(ENABLE_CONNECT)) {
    const what = 'the "allow_connect" SETTINGS parameter must only be configured';
    place.error('conflict', `${what} through the named field`);
  }
  if (inconsistent.size === 0) return;
  const list = [...inconsistent].map((id) => `0x${id.toString(16)}`).join(',');
  const what = 'inconsistent HTTP/2 custom SETTINGS parameter(s) detected';
  place.error('conflict', `${what}; identifiers = {${list}}`);
}
