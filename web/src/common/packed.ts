// Blocks of a page that hold bytes: base64, mostly of deflated data.

/** The bytes of a block, one after another. */
export function streamOf(block: Element): ReadableStream<BufferSource> {
  const raw = atob((block.textContent ?? "").trim());
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Blob([bytes]).stream() as ReadableStream<BufferSource>;
}

/** What was deflated, whole. */
export function inflate(stream: ReadableStream<BufferSource>): Response {
  return new Response(
    stream.pipeThrough(new DecompressionStream("deflate") as unknown as TransformStream<BufferSource, Uint8Array<ArrayBuffer>>),
  );
}
