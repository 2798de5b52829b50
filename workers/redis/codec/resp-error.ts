/** The peer broke the Redis protocol: nothing of its stream can be read any more. */
export class RespError extends Error {}
