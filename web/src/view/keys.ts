// What keys do.
import type { Orbit } from "./camera";
import type { Commands } from "./layout";

export interface Keyed extends Commands {
  readonly replay: { frames: readonly unknown[] };
  selectNothing(): void; nextContact(by: number): void; nextBody(): void;
  toggleFollow(): void; clearBodies(): void;
  steer(move: (orbit: Orbit) => void): void;
}

/** Null: the key means nothing here. */
export function actionOf(event: KeyboardEvent, app: Keyed): (() => void) | null {
  const turn = (move: (orbit: Orbit) => void) => () => app.steer(move);
  switch (event.key.length === 1 ? event.key.toLowerCase() : event.key) {
    case " ": return () => app.toggle();
    case "ArrowLeft": return () => app.step(event.shiftKey ? -10 : -1);
    case "ArrowRight": return () => app.step(event.shiftKey ? 10 : 1);
    case "Home": return () => app.seek(0);
    case "End": return () => app.seek(app.replay.frames.length - 1);
    case "1": return () => app.view("angle");
    case "2": return () => app.view("top");
    case "3": return () => app.view("front");
    case "4": return () => app.view("side");
    case "n": return () => app.worstFrame();
    case "m": return () => app.bookmark();
    case "p": return () => app.panel();
    case "u": return () => app.plain();
    case "z": return () => app.approach();
    case "f": return () => app.fit();
    case "c": return () => app.toggleFollow();
    case "w": return () => app.worst();
    case "[": return () => app.nextContact(-1);
    case "]": return () => app.nextContact(1);
    case "b": return () => app.nextBody();
    case "t": return () => app.clearBodies();
    case "Escape": return () => app.selectNothing();
    case "?": return () => app.help();
    case "+": case "=": return turn((orbit) => orbit.zoom(0.85));
    case "-": return turn((orbit) => orbit.zoom(1 / 0.85));
    case "a": return turn((orbit) => orbit.rotate(-0.12, 0));
    case "d": return turn((orbit) => orbit.rotate(0.12, 0));
    case "r": return turn((orbit) => orbit.rotate(0, 0.1));
    case "v": return turn((orbit) => orbit.rotate(0, -0.1));
    case "j": return turn((orbit) => orbit.pan(0.06, 0));
    case "l": return turn((orbit) => orbit.pan(-0.06, 0));
    case "i": return turn((orbit) => orbit.pan(0, -0.06));
    case "k": return turn((orbit) => orbit.pan(0, 0.06));
    default: return null;
  }
}
