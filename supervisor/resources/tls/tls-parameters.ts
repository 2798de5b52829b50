/** Resolves envoy.extensions.transport_sockets.tls.v3.TlsParameters: versions, ciphers, curves. */
import type tls from 'node:tls';
import type {
  TlsParameters as ParametersMessage,
  TlsParameters_TlsProtocol as Protocol,
} from '../../../shared/api/generated/envoy/extensions/transport_sockets/tls/v3/common.ts';
import type { TlsParameters, TlsVersion } from '../../../shared/resources/tls.ts';
import { knownFields, refuseOtherFields } from '../fields.ts';
import type { Scope } from '../scope.ts';
import { optional } from '../values.ts';

const FIELDS = knownFields<ParametersMessage>([
  'tls_minimum_protocol_version',
  'tls_maximum_protocol_version',
  'cipher_suites',
  'ecdh_curves',
  'signature_algorithms',
]);

const VERSIONS: Readonly<Record<string, TlsVersion>> = {
  TLSv1_0: 'TLSv1',
  TLSv1_1: 'TLSv1.1',
  TLSv1_2: 'TLSv1.2',
  TLSv1_3: 'TLSv1.3',
};

/** The API cannot choose among these; Envoy has the same three. */
const TLS13_SUITES = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
];

const DEFAULT_CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
];
const DEFAULT_CURVES = ['X25519', 'P-256'];

/** Older protocols sign with hashes that OpenSSL refuses at its usual level. */
const OLD_PROTOCOLS_LEVEL = '@SECLEVEL=0';

/**
 * A context that `waits` for secrets is made when these are here: until then curves and signatures
 * that OpenSSL does not know are no error, and from then on its connections fail, as in Envoy.
 */
export function resolveTlsParameters(
  message: ParametersMessage,
  side: 'client' | 'server',
  waits: boolean,
  scope: Scope,
): TlsParameters {
  refuseOtherFields(message, FIELDS, scope);
  const minVersion = version(message.tls_minimum_protocol_version, 'TLSv1.2');
  const newest = side === 'client' ? 'TLSv1.2' : 'TLSv1.3';
  const maxVersion = version(message.tls_maximum_protocol_version, newest);
  const { signature_algorithms: algorithms = [] } = message;
  const ciphers = resolveCiphers(message.cipher_suites, scope.at('cipher_suites'));
  const old = minVersion === 'TLSv1' || minVersion === 'TLSv1.1' ? [OLD_PROTOCOLS_LEVEL] : [];
  return {
    minVersion,
    maxVersion,
    ciphers: [...TLS13_SUITES, ...ciphers, ...old].join(':'),
    curves: resolveCurves(message.ecdh_curves, waits, scope.at('ecdh_curves')),
    ...optional(
      'signatureAlgorithms',
      resolveSignatures(algorithms, waits, scope.at('signature_algorithms')),
    ),
  };
}

function version(protocol: Protocol | undefined, fallback: TlsVersion): TlsVersion {
  return VERSIONS[String(protocol)] ?? fallback;
}

/** Groups of equal preference (`[A|B]`) become their members in order. */
function resolveCiphers(messages: readonly string[] | undefined, scope: Scope): readonly string[] {
  if (messages === undefined || messages.length === 0) return DEFAULT_CIPHERS;
  const names = messages.flatMap((each) => each.replace(/[[\]]/g, '').split(/[|:]/));
  const refused = names.filter(
    (name) => TLS13_SUITES.includes(name) || !isAccepted({ ciphers: name }),
  );
  if (refused.length > 0) {
    scope.error(
      'conflict',
      `Failed to initialize cipher suites ${messages.join(':')}. The following ciphers were rejected when tried individually: ${refused.join(', ')}`,
    );
    return DEFAULT_CIPHERS;
  }
  return names;
}

/** Groups that Envoy's library knows and older versions of OpenSSL do not: offering fewer is safe. */
const NEWER_CURVES = new Set(['X25519MLKEM768', 'MLKEM1024', 'X25519Kyber768Draft00']);

function resolveCurves(
  messages: readonly string[] | undefined,
  waits: boolean,
  scope: Scope,
): string {
  const names = messages === undefined || messages.length === 0 ? DEFAULT_CURVES : messages;
  const refused = names.filter((name) => !isAccepted({ ecdhCurve: name }));
  if (refused.length === 0) return names.join(':');
  const rest = names.filter((name) => !refused.includes(name));
  if (rest.length > 0 && refused.every((name) => NEWER_CURVES.has(name))) {
    scope.warning(
      'no_effect',
      `ECDH curves ${refused.join(', ')} are not offered: this OpenSSL does not know them`,
      'Node.js 24 and later have them; the other curves of the list are used',
    );
    return rest.join(':');
  }
  const suggestion = `this OpenSSL does not know ${refused.join(', ')}`;
  report(`Failed to initialize ECDH curves ${names.join(':')}`, waits, scope, suggestion);
  return names.join(':');
}

function resolveSignatures(
  names: readonly string[],
  waits: boolean,
  scope: Scope,
): string | undefined {
  if (names.length === 0) return undefined;
  const joined = names.join(':');
  if (!isAccepted({ sigalgs: joined })) {
    report(`Failed to initialize TLS signature algorithms ${joined}`, waits, scope);
  }
  return joined;
}

function report(problem: string, waits: boolean, scope: Scope, suggestion?: string): void {
  if (!waits) scope.error('conflict', problem, suggestion);
  else scope.warning('no_effect', `no connection will succeed: ${problem}`, suggestion);
}

function isAccepted(options: tls.SecureContextOptions): boolean {
  try {
    process.getBuiltinModule('node:tls').createSecureContext(options);
    return true;
  } catch {
    return false;
  }
}
