/** One holder's use of something that comes from elsewhere and is shared. Types only. */
export interface ResourceUse {
  /** As `/init_dump` names what is waited for. */
  readonly target: string;
  /** Resolves when it is there, or was waited for in vain. */
  readonly ready: Promise<void>;
  isReady(): boolean;
  /** Once: the last release ends the subscription. */
  release(): void;
}
