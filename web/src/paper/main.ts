// A study is written by the program as it is read; the script adds the title of the window and the choice of colours.
import { themeButton } from "../common/theme";

/** A button that starts and stops both replays of a pair together. */
function playBoth(pair: Element): void {
  const button = document.createElement("button");
  let playing = false;
  const say = () => {
    button.textContent = playing ? "Pause both" : "Play both";
    for (const frame of pair.querySelectorAll("iframe"))
      frame.contentWindow?.postMessage(playing ? "stickslip:play" : "stickslip:pause", "*"); // files have no origin to name
  };
  button.type = "button";
  button.addEventListener("click", () => {
    playing = !playing;
    say();
  });
  button.textContent = "Play both";
  pair.querySelector("figcaption")?.append(button);
}

document.querySelectorAll(".pair").forEach(playBoth);
document.title = `${document.querySelector("h1")?.textContent ?? "study"} - stickslip`;
document.getElementById("bar")?.append(themeButton());
