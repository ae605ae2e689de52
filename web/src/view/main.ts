// The page of `stickslip view`.
import { h } from "../common/dom";
import { themeButton } from "../common/theme";
import { App } from "./app";
import { Frames, loadReplay } from "./load";
import { outside } from "./outside";

/** In a frame of another page: picture and timeline alone, which that page may start and stop. */
function embed(root: HTMLElement, app: App): void {
  root.classList.add("embedded");
  addEventListener("message", (event) => {
    if (event.source !== window.parent) return;
    const play = event.data === "stickslip:play";
    if (!play && event.data !== "stickslip:pause") return;
    if (play && !app.playing) app.seek(0);
    if (play !== app.playing) app.toggle();
  });
}

async function start(root: HTMLElement): Promise<void> {
  try {
    const { replay, served } = await loadReplay();
    const app = new App(root, replay, new Frames(replay, served));
    Object.defineProperty(window, "stickslip", { value: outside(app) });
    if (window.parent !== window) embed(root, app);
  } catch (error) {
    themeButton();
    root.replaceChildren(h("p", { class: "notice alone", role: "alert" }, error instanceof Error ? error.message : String(error)));
  }
}

void start(document.getElementById("page")!);
