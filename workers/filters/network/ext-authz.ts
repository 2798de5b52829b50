/** The network filter ext_authz: asks a service about a connection when its first bytes are here. */
import type { NetworkExtAuthz } from '../../../shared/resources/filters/network/ext-authz.ts';
import { dottedPrefix } from '../../../shared/stats/stat-scope.ts';
import { NETWORK_EXT_AUTHZ } from '../../../shared/resources/filters/network/ext-authz.ts';
import { type Dictionary, dictionary } from '../../../shared/text/dictionary.ts';
import { compileMetadataMatcher } from '../../matching/value-matcher.ts';
import { readMessage } from '../../../shared/protobuf/proto-reader.ts';
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import { ResponseFlag } from '../../stream/response-flags.ts';
import type { StreamInfo } from '../../stream/stream-info.ts';
import {
  knownMetadata,
  labelsOf,
  writeDestination,
  writeMetadata,
  writeSource,
  writeTlsSession,
} from '../common/check-attributes.ts';
import { CHECK_FAILED, type CheckOutcome } from '../http/ext-authz/check.ts';
import { CHECK_METHOD } from '../http/ext-authz/grpc-checker.ts';
import { readCheckResponse } from '../http/ext-authz/check-response.ts';
import type { NetworkFilterContext } from '../network-filter-context.ts';
import type { NetworkGate } from '../network-gate.ts';
import { AskedConnection } from './asked-connection.ts';
import { addConnectionMetadata } from './connection-metadata.ts';

const NAMESPACE = 'envoy.filters.network.ext_authz';
const { index } = NETWORK_EXT_AUTHZ;

export function makeExtAuthzGate(
  filter: NetworkExtAuthz,
  { stats, grpc, loop, nodeMetadata }: NetworkFilterContext,
): NetworkGate {
  const { enabledMetadata, timeoutMs } = filter;
  const base = stats.defineBlock(NETWORK_EXT_AUTHZ, dottedPrefix(`ext_authz.${filter.statPrefix}`));
  const count = (stat: keyof typeof index): void => stats.increment(base + index[stat]);
  const service = grpc.service(filter.target);
  const labels = labelsOf(nodeMetadata, filter.labelsKey);
  const isEnabledBy = enabledMetadata && compileMetadataMatcher(enabledMetadata);
  const isEnabled = ({ dynamicMetadata }: StreamInfo): boolean => {
    const isOn = isEnabledBy === undefined || isEnabledBy(dynamicMetadata);
    if (!isOn) count('disabled');
    return isOn;
  };
  const decide = (outcome: CheckOutcome, info: StreamInfo, askedMs: number): boolean => {
    keepMetadata(outcome, info, loop.clock.ms - askedMs);
    count(outcome.kind);
    if (outcome.kind === 'ok' || filter.isShadow) return true;
    if (outcome.kind === 'error' && filter.failureModeAllow) {
      count('failure_mode_allowed');
      return true;
    }
    count('cx_closed');
    info.responseFlags |= ResponseFlag.unauthorizedExternalService;
    info.responseCodeDetails = `ext_authz_${outcome.kind}`;
    return false;
  };
  return {
    onConnection(info) {
      isEnabled(info);
      return true;
    },
    onFirstBytes(info, resume) {
      if (!isEnabled(info)) return true;
      count('total');
      stats.add(base + index.active, 1);
      const askedMs = loop.clock.ms;
      const asked = new AskedConnection(resume, () => stats.subtract(base + index.active, 1));
      const call = { method: CHECK_METHOD, timeoutMs, parent: info };
      return asked.ask(() =>
        service.call(call, writeCheck(info, filter, labels), {
          onAnswer: (message) => {
            const outcome = readMessage(message, readCheckResponse) ?? CHECK_FAILED;
            asked.decide(decide(outcome, info, askedMs));
          },
          onFailure: () => asked.decide(decide(CHECK_FAILED, info, askedMs)),
          onException: () => asked.onException(),
        }),
      );
    },
    release() {
      service.release();
      stats.releaseBlock(base);
    },
  };
}

function keepMetadata({ kind, metadata }: CheckOutcome, info: StreamInfo, tookMs: number): void {
  if (metadata === undefined || Object.keys(metadata).length === 0) return;
  const whole = dictionary<unknown>(Object.entries(metadata));
  if (kind === 'ok') whole['ext_authz_duration'] = Math.floor(tookMs);
  addConnectionMetadata(info, NAMESPACE, whole);
}

/** envoy.service.auth.v3.CheckRequest. */
function writeCheck(info: StreamInfo, filter: NetworkExtAuthz, labels: Dictionary<string>): Buffer {
  const { includesPeerCertificate, includesTlsSession, metadataNamespaces } = filter;
  const writer = new ProtoWriter();
  writer.message(1, () => {
    writeSource(writer, info, { includesPeerCertificate, service: '' });
    writeDestination(writer, info.connection, labels);
    const find = (name: string): ReturnType<typeof knownMetadata> => knownMetadata(info, name);
    writeMetadata(writer, 11, { names: metadataNamespaces, find });
    if (includesTlsSession) writeTlsSession(writer, info.connection);
  });
  return writer.finish();
}
