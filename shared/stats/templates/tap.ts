/** Statistics of taps of connections. */
import { defineTemplate } from '../template.ts';
import { counter } from './spec.ts';

/** Prefix: `transport.tap.`, and the prefix of the tap's own. */
export const SOCKET_TAP = defineTemplate('socket_tap', {
  streamed_submit: counter('Records of connections that were written while they were open'),
  buffered_submit: counter('Records that were written at the end of their connection'),
  cx_sampled_out: counter('Connections that the share to be recorded left out'),
});
