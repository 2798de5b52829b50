/** Finds out the client behind proxies by the configured extensions, in their order. */
import { compileIpRanges } from '../../shared/addresses/ip-ranges.ts';
import { KindTable, type OfKind } from '../../shared/resources/by-kind.ts';
import type { IpDetection } from '../../shared/resources/listener.ts';
import type { Address } from '../net/connection-info.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { addressFromForwardedFor, parseIpAddress } from '../net/client-address.ts';

export interface DetectedClient {
  /** Undefined: nothing was found, the connection's peer is the client. */
  readonly address: Address | undefined;
  /** The address may count as internal. */
  readonly isTrusted: boolean;
  /** The peer is added to `x-forwarded-for`. */
  readonly appends: boolean;
  /** The request is refused with it; 0 where it is not. */
  readonly rejectStatus: number;
}

/** A result without address and status leaves the client to the next one. */
type Detector = (headers: HeaderMap, peer: Address) => DetectedClient;

const UNKNOWN: DetectedClient = {
  address: undefined,
  isTrusted: false,
  appends: false,
  rejectStatus: 0,
};

export function compileIpDetection(
  detections: readonly IpDetection[],
): (headers: HeaderMap, peer: Address) => DetectedClient {
  const detectors = detections.map((detection) => DETECTORS.make(detection));
  return (headers, peer) => {
    let found = UNKNOWN;
    for (const detect of detectors) {
      found = detect(headers, peer);
      if (found.address !== undefined || found.rejectStatus > 0) break;
    }
    return found;
  };
}

const DETECTORS = new KindTable<IpDetection, [], Detector>({
  custom_header: ({ name, isTrusted, rejectStatus = 0 }) => {
    return (headers) => {
      const address = parseIpAddress(headers.get(name) ?? '');
      if (address !== undefined) return { ...UNKNOWN, address, isTrusted };
      return { ...UNKNOWN, rejectStatus };
    };
  },
  xff: fromForwardedFor,
});

function fromForwardedFor({
  numTrustedHops,
  trusted,
  appends,
}: OfKind<IpDetection, 'xff'>): Detector {
  const isTrustedPeer = trusted === undefined ? () => true : compileIpRanges(trusted);
  const addressOf =
    trusted === undefined
      ? (forwardedFor: string) => addressFromForwardedFor(forwardedFor, numTrustedHops)
      : (forwardedFor: string) => lastUntrusted(forwardedFor, isTrustedPeer);
  return (headers, peer) => {
    if (!isTrustedPeer(peer.ip)) return { ...UNKNOWN, appends: true };
    const forwardedFor = headers.getAll('x-forwarded-for');
    const address = forwardedFor === undefined ? undefined : addressOf(forwardedFor);
    return { ...UNKNOWN, address, isTrusted: forwardedFor?.includes(',') === false, appends };
  };
}

/** The last address that is no trusted proxy's; the first one where all are. */
function lastUntrusted(
  forwardedFor: string,
  isTrusted: (ip: string) => boolean,
): Address | undefined {
  let address: Address | undefined;
  for (const text of forwardedFor.split(',').toReversed()) {
    address = parseIpAddress(text.trim());
    if (address === undefined || !isTrusted(address.ip)) break;
  }
  return address;
}
