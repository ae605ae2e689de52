function ss_free(w)
% ss_free(w)   frees a world at once, rather than when its last handle is cleared
%
% ss_free(w) also ends a world whose own user functions refer to w, which keeps it alive. A
% recording that was not ended by ss_record(w) is dropped.
%
% Example:
%   w = ss_world('sphere-drop');
%   ss_step(w, 10);
%   ss_free(w);
%
% See also ss_world
  stickslip_mex('world_free', w.id);
end
