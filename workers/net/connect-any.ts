/**
 * Connects to the first of several addresses of one host that takes the connection (RFC 8305): each
 * gets a while before the next is tried, the address families in turn.
 */
import net from 'node:net';
import { isIPv6 } from '../../shared/addresses/ip-text.ts';

/** What RFC 8305 and Envoy give each address. */
const ATTEMPT_MS = 300;

/** `addresses` are literal, at least one; `triedNext` is called for each but the first. */
export function connectToAny(
  addresses: readonly string[],
  port: number,
  triedNext: () => void,
): net.Socket {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
  const socket = net.connect({
    // Never looked up: it has to be a name for the addresses to be asked for.
    host: 'addresses.invalid',
    port,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ATTEMPT_MS,
    lookup: (_, __, answer) => process.nextTick(() => answer(null, found)),
  });
  let attempts = 0;
  return socket.on('connectionAttempt', () => {
    if (++attempts > 1) triedNext();
  });
}

/** The family that is tried first goes ahead; without a wish the order stays. */
export function inOrderOf(
  addresses: readonly string[],
  first: 'v4' | 'v6' | undefined,
): readonly string[] {
  if (first === undefined) return addresses;
  const isFirst = (address: string): boolean => isIPv6(address) === (first === 'v6');
  return [...addresses.filter(isFirst), ...addresses.filter((address) => !isFirst(address))];
}
