/** Resolves TlsSessionTicketKeys: the keys that session tickets of servers are sealed with. */
import { hkdfSync } from 'node:crypto';
import type { TlsSessionTicketKeys } from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/common.ts';
import type { DownstreamTlsContext } from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/tls.ts';
import type { DownstreamTls } from '../../../shared/resources/tls.ts';
import { isSkippedSecret, readFilledSource } from '../data-source.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';
import { resolveSecretReference, OTHER_KIND, UNKNOWN } from './secret-references.ts';

const KEY_BYTES = 80;
const NODE_KEY_BYTES = 48;

/** What the context holds itself or names. */
export function resolveTickets(
  message: DownstreamTlsContext,
  scope: Scope,
): Pick<DownstreamTls, 'ticketKeys' | 'ticketSecret'> {
  const { session_ticket_keys: own, session_ticket_keys_sds_secret_config: named } = message;
  if (own !== undefined) {
    return optional('ticketKeys', resolveTicketKeys(own, scope.at('session_ticket_keys')));
  }
  if (named === undefined) return {};
  const place = scope.at('session_ticket_keys_sds_secret_config');
  const reference = resolveSecretReference(named, 'tickets', place);
  if (reference === undefined) return {};
  if (reference.at === 'source') return { ticketSecret: reference.key };
  const { session_ticket_keys: keys } = reference.secret;
  if (keys !== undefined) return optional('ticketKeys', resolveTicketKeys(keys, place));
  place.error('reference', `${UNKNOWN.tickets}: ${reference.name}`, OTHER_KIND);
  return {};
}

/**
 * Base64 of what the runtime takes; undefined after a reported problem. One key for new tickets is
 * all that it can hold; tickets of others mean a full handshake.
 */
export function resolveTicketKeys(message: TlsSessionTicketKeys, scope: Scope): string | undefined {
  const keys = (message.keys ?? []).map((source, index) => {
    const place = scope.at('keys', index);
    if (isSkippedSecret(source, scope)) return undefined;
    const key = readFilledSource(source, place);
    if (key !== undefined && key.length !== KEY_BYTES) {
      place.error(
        'conflict',
        `Incorrect TLS session ticket key length. Length ${key.length}, expected length ${KEY_BYTES}.`,
      );
    }
    return key;
  });
  const [first] = keys;
  if (first === undefined) return undefined;
  if (keys.length > 1) {
    scope.warning('no_effect', 'only the first key is used: tickets of the others are not resumed');
  }
  const derived = hkdfSync('sha256', first, '', 'sluice session tickets', NODE_KEY_BYTES);
  return Buffer.from(derived).toString('base64');
}
