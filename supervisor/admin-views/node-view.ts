/** The server's node as `/server_info` prints it: every key present, defaults included. */
import type { Node } from '../../shared/api/generated/envoy/config/core/v3/base.ts';
import type { JsonObject } from '../../shared/api/well-known.ts';
import type { BuildStamp } from '../../shared/build-stamp.ts';
import { knownExtensions } from '../resources/known-extensions.ts';
import type { NodeIdentity } from '../resources/resolved-bootstrap.ts';

/**
 * @param configured the bootstrap's node
 * @param identity the same after the options that take the place of its fields
 */
export function nodeMessage(
  configured: Node | undefined,
  identity: NodeIdentity,
  stamp: BuildStamp,
): JsonObject {
  const {
    metadata,
    dynamic_parameters: parameters = {},
    client_features: features = [],
  } = configured ?? {};
  return {
    id: identity.id,
    cluster: identity.cluster,
    ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }),
    dynamic_parameters: parameters as JsonObject,
    ...localityOf(configured, identity),
    user_agent_name: 'sluice',
    user_agent_build_version: buildVersion(stamp),
    extensions: knownExtensions().map(({ name, category, type }) => ({
      name,
      category,
      type_descriptor: '',
      disabled: false,
      type_urls: [type],
    })),
    client_features: [...features],
    listening_addresses: [],
  };
}

/** Printed when the bootstrap or `--service-zone` gives one. */
function localityOf(configured: Node | undefined, { zone }: NodeIdentity): JsonObject {
  if (configured?.locality === undefined && zone === '') return {};
  const { region = '', sub_zone: subZone = '' } = configured?.locality ?? {};
  return { locality: { region, zone, sub_zone: subZone } };
}

function buildVersion(stamp: BuildStamp): JsonObject {
  const [major = 0, minor = 0, patch = 0] = stamp.release.split(/[.-]/).map(Number);
  return {
    version: { major_number: major, minor_number: minor, patch },
    metadata: {
      'revision.sha': stamp.revision,
      'revision.status': stamp.status,
      'build.type': 'RELEASE',
      'ssl.version': 'OpenSSL',
    },
  };
}
