/** Every template of this build by its id, for readers of another process's definitions. */
import { HTTP_FILTER_TEMPLATES } from '../../resources/filters/http-filters.ts';
import { LISTENER_FILTER_TEMPLATES } from '../../resources/filters/listener-filters.ts';
import { NETWORK_FILTER_TEMPLATES } from '../../resources/filters/network-filters.ts';
import type { StatTemplate } from '../template.ts';
import * as clusterFeatures from './cluster-features.ts';
import * as clusterManager from './cluster-manager.ts';
import * as cluster from './cluster.ts';
import * as codecs from './codecs.ts';
import * as httpConnectionManager from './http-connection-manager.ts';
import * as listener from './listener.ts';
import * as server from './server.ts';
import * as subscriptions from './subscriptions.ts';
import * as tap from './tap.ts';
import * as tls from './tls.ts';
import * as telemetry from './telemetry.ts';
import * as udp from './udp.ts';
import * as dnsFilter from './dns-filter.ts';

const files: readonly object[] = [
  cluster,
  clusterFeatures,
  clusterManager,
  codecs,
  httpConnectionManager,
  listener,
  server,
  subscriptions,
  tap,
  tls,
  telemetry,
  dnsFilter,
  udp,
];

export const ALL_TEMPLATES: readonly StatTemplate[] = [
  ...files.flatMap((file): unknown[] => Object.values(file)).filter(isTemplate),
  ...HTTP_FILTER_TEMPLATES,
  ...LISTENER_FILTER_TEMPLATES,
  ...NETWORK_FILTER_TEMPLATES,
];

/** Some files also export offsets within a block. */
function isTemplate(exported: unknown): exported is StatTemplate {
  return typeof exported === 'object' && exported !== null && 'stats' in exported;
}
