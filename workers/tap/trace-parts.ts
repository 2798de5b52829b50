/** The parts of a tap's record: headers, bodies, connections. Source: envoy.data.tap.v3. */
import type { RuntimeFraction } from '../../shared/resources/routes/matchers.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { Address } from '../net/connection-info.ts';
import { repairUtf8 } from './repair-utf8.ts';
import { field, message, type TraceField, type TraceValue } from './trace-message.ts';

/** What stands for a byte of a header that is not UTF-8. */
const NO_TEXT = '!';
const PSEUDO = [':authority', ':path', ':method', ':scheme', ':protocol', ':status'] as const;

/** envoy.config.core.v3.HeaderValue, pseudo headers first. */
export function headerValues(headers: HeaderMap): TraceValue {
  const items: (readonly TraceField[])[] = [];
  const add = (name: string, value: string): void => void items.push(headerValue(name, value));
  for (const name of PSEUDO) {
    const value = headers.get(name);
    if (value !== undefined && value !== '' && value !== '0') add(name, value);
  }
  headers.forEach(add);
  return { kind: 'messages', items };
}

function headerValue(name: string, value: string): readonly TraceField[] {
  return [
    field(1, 'key', { kind: 'string', text: repairUtf8(name, NO_TEXT) }),
    field(2, 'value', { kind: 'string', text: repairUtf8(value, NO_TEXT) }),
    field(3, 'raw_value', { kind: 'bytes', bytes: Buffer.alloc(0) }),
  ];
}

export function bodyFields(bytes: Buffer, truncated: boolean): readonly TraceField[] {
  return [
    field(1, 'as_bytes', { kind: 'bytes', bytes }),
    field(3, 'truncated', { kind: 'bool', value: truncated }),
  ];
}

/** envoy.data.tap.v3.Connection */
export function connectionFields(
  local: Address | undefined,
  remote: Address | undefined,
): readonly TraceField[] {
  return [
    ...(local === undefined ? [] : [message(1, 'local_address', addressFields(local))]),
    ...(remote === undefined ? [] : [message(2, 'remote_address', addressFields(remote))]),
  ];
}

function addressFields(address: Address): readonly TraceField[] {
  if (address.kind === 'pipe') {
    const path = field(1, 'path', { kind: 'string', text: address.text });
    return [message(2, 'pipe', [path, field(2, 'mode', { kind: 'uint32', value: 0 })])];
  }
  return [
    message(1, 'socket_address', [
      field(1, 'protocol', { kind: 'enum', value: 0, name: 'TCP' }),
      field(2, 'address', { kind: 'string', text: address.ip }),
      field(3, 'port_value', { kind: 'uint32', value: address.port }),
      field(5, 'resolver_name', { kind: 'string', text: '' }),
      field(6, 'ipv4_compat', { kind: 'bool', value: false }),
      field(7, 'network_namespace_filepath', { kind: 'string', text: '' }),
    ]),
  ];
}

const DENOMINATORS = new Map([
  [100, { value: 0, name: 'HUNDRED' }],
  [10_000, { value: 1, name: 'TEN_THOUSAND' }],
  [1_000_000, { value: 2, name: 'MILLION' }],
]);

/** envoy.type.v3.FractionalPercent */
export function sampleRate({ numerator, denominator }: RuntimeFraction): readonly TraceField[] {
  const { value, name } = DENOMINATORS.get(denominator) ?? { value: 0, name: 'HUNDRED' };
  return [
    field(1, 'numerator', { kind: 'uint32', value: numerator }),
    field(2, 'denominator', { kind: 'enum', value, name }),
  ];
}
