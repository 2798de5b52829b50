/**
 * The node as this server names itself: the bootstrap's, with what the command line puts in its
 * place and what the build says of itself. `/server_info`, `/config_dump` and control planes see
 * it.
 */
import type { JsonObject, JsonValue } from '../../shared/api/well-known.ts';
import type { NodeIdentity } from '../resolved/resolved-bootstrap.ts';
import { knownExtensions } from '../resources/known-extensions.ts';

export interface NodeInput {
  /** `node` of the bootstrap as it was written. */
  readonly configured: JsonObject;
  readonly identity: NodeIdentity;
  /** Five fields separated by slashes: revision, release, status, build mode, TLS library. */
  readonly version: string;
}

/** envoy.config.core.v3.Node, fields in the order of their numbers; what is empty is left out. */
export function nodeMessage({ configured, identity, version }: NodeInput): JsonObject {
  const { metadata, dynamic_parameters: parameters } = configured;
  return present({
    id: identity.id,
    cluster: identity.cluster,
    metadata,
    dynamic_parameters: parameters,
    locality: localityMessage(configured['locality'], identity.zone),
    user_agent_name: configured['user_agent_name'] ?? 'sluice',
    user_agent_build_version: buildVersion(version),
    extensions: knownExtensions().map(({ name, category, type }) => ({
      name,
      category,
      type_urls: [type],
    })),
    client_features: configured['client_features'],
    listening_addresses: configured['listening_addresses'],
  });
}

function localityMessage(configured: JsonValue | undefined, zone: string): JsonObject | undefined {
  const locality = (configured ?? {}) as JsonObject;
  if (configured === undefined && zone === '') return undefined;
  return present({
    region: locality['region'],
    zone: zone === '' ? locality['zone'] : zone,
    sub_zone: locality['sub_zone'],
  });
}

function buildVersion(version: string): JsonObject {
  const [revision = '', release = '', status = '', mode = '', tls = ''] = version.split('/');
  const [major = 0, minor = 0, patch = 0] = (/^\d+\.\d+\.\d+/.exec(release)?.[0] ?? '')
    .split('.')
    .map(Number);
  return {
    version: present({ major_number: major, minor_number: minor, patch }),
    metadata: {
      'build.type': mode,
      'revision.sha': revision,
      'revision.status': status,
      'ssl.version': tls,
    },
  };
}

function present(fields: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const result: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== '' && value !== 0) result[name] = value;
  }
  return result;
}
