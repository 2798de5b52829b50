/** Statistics of access logs that go to services. */
import { defineTemplate } from '../template.ts';
import { counter } from './spec.ts';

/** Prefix: `access_logs.grpc_access_log.` */
export const GRPC_ACCESS_LOG = defineTemplate('grpc_access_log', {
  grpc_entries_flush_failed: counter('Entries that could not be sent'),
  grpc_entries_flushed: counter('Entries sent'),
  logs_dropped: counter('Entries for which there was no room'),
  logs_written: counter('Entries taken'),
});
