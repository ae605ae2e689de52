function sim = rpisim_live_plot(sim, name, values, label)
% rpisim_live_plot  Adds a point to a curve for each value, in a figure of its own that sim.userData remembers.
  if ~rpisim_display()
    return
  end
  field = ['plot_' name];
  if ~isfield(sim.userData, field)
    figure();
    hold on
    lines = zeros(1, numel(values));
    colours = 'bgrkmc';
    for k = 1:numel(values)
      lines(k) = plot(sim.time, values(k), colours(1 + mod(k - 1, 6)));
    end
    xlabel('Time (s)');
    ylabel(label);
    sim.userData.(field) = lines;
    return
  end
  lines = sim.userData.(field);
  for k = 1:numel(values)
    if ishghandle(lines(k))
      set(lines(k), 'XData', [get(lines(k), 'XData'), sim.time], 'YData', [get(lines(k), 'YData'), values(k)]);
    end
  end
end
