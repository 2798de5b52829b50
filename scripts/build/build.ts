/** Build steps that come before the main compilation. */
export {};
