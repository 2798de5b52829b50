/** Keeps a peer's workload where filters, expressions and logs find it. */
import { ProtoWriter } from '../../../shared/protobuf/proto-writer.ts';
import { writeMembers } from '../../../shared/protobuf/struct-message.ts';
import type { FilterState } from '../filter-state.ts';
import { shownWorkload, workloadFields, workloadText, type Workload } from './istio-workload.ts';

export type PeerSide = 'downstream' | 'upstream';

export const peerKey = (side: PeerSide): string => `${side}_peer`;

export function keepPeer(state: FilterState, side: PeerSide, workload: Workload): void {
  const shown = shownWorkload(workload);
  const writer = new ProtoWriter();
  writeMembers(writer, shown);
  state.keepStruct(peerKey(side), writer.finish().toString('latin1'), shown);
  const text = workloadText(workload);
  const key = `${peerKey(side)}_obj`;
  state.keepMessage(key, text, JSON.stringify(shown), workloadFields(workload));
}
