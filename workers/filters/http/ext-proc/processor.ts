/** A processor as the filter talks to it: one call for a whole exchange. */
import type { Endable } from '../../../../shared/process/exceptions.ts';
import type { ProcessingRequest, ProcessorAnswer } from './messages.ts';

export interface ProcessorCallbacks extends Endable {
  onAnswer(answer: ProcessorAnswer): void;
  /** It said that it is done; nothing follows. */
  onProcessorEnd(): void;
  /** Nothing follows; `details` are response code details. */
  onProcessorError(details: string, hasBroken: boolean): void;
  /** What was sent has gone: more may be sent. */
  onProcessorWritable(): void;
}

export interface ProcessorCall {
  /** Whether more waits to be sent than should. */
  readonly isCongested: boolean;
  send(request: ProcessingRequest): void;
  /** Back-pressure: nothing more is read of the processor; counted. */
  pause(paused: boolean): void;
  /** Nothing is heard any more; `politely`: the processor is told that nothing more is sent. */
  close(politely: boolean): void;
}
