// Every text that is seen, with its contrast to what is behind it, by the colours as they are rendered: [contrast, text, colours].
() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parsed = new Map();
  const parse = (colour) => {
    if (!parsed.has(colour)) {
      canvas.clearRect(0, 0, 1, 1);
      canvas.fillStyle = colour;
      canvas.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = canvas.getImageData(0, 0, 1, 1).data;
      parsed.set(colour, [red, green, blue, alpha / 255]);
    }
    return parsed.get(colour);
  };
  const over = (top, below) => [0, 1, 2].map((place) => top[place] * top[3] + below[place] * (1 - top[3])).concat(1);
  const behind = (element) => {
    const layers = [];
    for (let one = element; one; one = one.parentElement) layers.push(parse(getComputedStyle(one).backgroundColor));
    const canvas = matchMedia("(prefers-color-scheme: dark)").matches ? [0, 0, 0, 1] : [255, 255, 255, 1];
    return layers.reverse().reduce((below, layer) => over(layer, below), canvas);
  };
  const luminance = (colour) => {
    const [red, green, blue] = colour.slice(0, 3).map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (front, back) => {
    const [light, dark] = [luminance(front), luminance(back)].sort((one, other) => other - one);
    return (light + 0.05) / (dark + 0.05);
  };
  const found = [];
  const look = (text, style, back) => {
    const front = over(parse(style.fill !== "rgb(0, 0, 0)" && style.svg ? style.fill : style.color), back);
    found.push([contrast(front, back), text.slice(0, 40), `${style.color} on ${back.map(Math.round)}`]);
  };
  const seen = new Set();
  for (const element of document.querySelectorAll("body, body *")) {
    if (["SCRIPT", "STYLE", "OPTION"].includes(element.tagName) || !element.checkVisibility({ contentVisibilityAuto: true })) continue;
    const style = getComputedStyle(element);
    const sign = getComputedStyle(element, "::before");
    if (sign.content !== "none" && sign.display !== "none") {
      const key = `${element.className} ${sign.color} ${sign.backgroundColor}`;
      if (!seen.has(key)) {
        seen.add(key);
        look(`::before ${sign.content}`, sign, over(parse(sign.backgroundColor), behind(element)));
      }
    }
    if (style.fontSize === "0px") continue;
    const text = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.data).join("").trim();
    if (!text && !["SELECT", "INPUT"].includes(element.tagName)) continue;
    const inSvg = element.namespaceURI.endsWith("svg");
    look(text || element.tagName, { color: inSvg ? style.fill : style.color }, behind(element));
  }
  return found;
}
