function sim = collision_detection(sim)
% sim = collision_detection(sim)   finds the contacts of the bodies where they are now: sim.contacts
%
% The collision detection of the library. As sim.H_collision_detection it is what runs anyway; call it from collision
% detection of your own to change or filter what it finds. Bodies are found up to a small gap, which depends on their
% size and speed, rather than up to RPIsim's 0.1 length units.
%
% Example:
%   function sim = only_floor(sim)           % sim.H_collision_detection = @only_floor
%     sim = collision_detection(sim);
%     sim.contacts = sim.contacts([sim.contacts.body1_id] == 1);
%   end
%
% See also Contact, Simulator
  [run, w] = rpisim_current();
  if isempty(w) || run.id ~= sim.id
    [w, plan] = rpisim_world(sim);
    stickslip_mex('world_start', w.id, plan.options);
  end
  sim.contacts = rpisim_contacts(stickslip_mex('world_detect', w.id));
end
