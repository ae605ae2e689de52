function ss_begin(w)
% ss_begin  Begins the simulation of a world with defaults, unless it has begun.
  try
    stickslip_mex('world_start', w.id, {});
  catch e
    if isempty(strfind(e.message, 'begun already'))
      rethrow(e);
    end
  end
end
